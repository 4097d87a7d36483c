import type { AgentContract } from "../../src/agent/protocol.ts";

/** The contract of the examples: an agent that compares, asks for approval and uploads. */
export interface SupportContract extends AgentContract {
  readonly metadata: { readonly rating: number | null };
  readonly threadMetadata: { readonly projectId: string };
  readonly tools: {
    readonly compareProposals: {
      readonly input: { jobBriefId: string };
      readonly output: { rankings: { agencyId: string; totalScore: number }[] };
      readonly data: { readonly progress: { percent: number } };
    };
    readonly approveAward: {
      readonly input: { jobBriefId: string };
      readonly output: { approved: boolean; memoId: string };
      readonly suspends: {
        readonly approval: { readonly input: { message: string }; readonly output: { approved: boolean } };
      };
    };
    readonly browserUpload: {
      readonly input: { fileName: string };
      readonly output: { fileId: string };
      readonly hasExecute: false;
    };
  };
  readonly data: { readonly notice: { readonly level: "info" | "warning"; readonly text: string } };
  readonly commands: {
    readonly refreshJobBrief: {
      readonly input: { jobBriefId: string };
      readonly output: { jobBriefId: string; status: "evaluating" | "ready" };
    };
  };
}
