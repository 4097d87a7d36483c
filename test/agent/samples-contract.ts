import type { AgentContract } from "wiretape/agent";

/** The agent of the mock page's samples, as far as they show it. */
export interface EngineeringSourceContract extends AgentContract {
  readonly metadata: { readonly rating?: number };
  readonly threadMetadata: { readonly projectId: string };
  readonly tools: {
    readonly compareProposals: {
      readonly input: { jobBriefId: string };
      readonly output: { rankings: { agencyId: string; totalScore: number }[] };
    };
    readonly approveAwardRecommendation: {
      readonly input: { jobBriefId: string; recommendedAgencyId?: string };
      readonly output: { approved: boolean; memoId: string };
      readonly suspends: {
        readonly approval: { readonly input: { message: string }; readonly output: { approved: boolean } };
      };
      readonly data: { readonly progress: { percent: number } };
    };
    readonly searchAgencies: { readonly input: { query: string }; readonly output: string[] };
    readonly browserUpload: {
      readonly input: { fileName: string };
      readonly output: { fileId: string };
      readonly hasExecute: false;
    };
    readonly reviewJob: {
      readonly input: { jobId: string };
      readonly output: { reviewed: boolean };
      readonly suspends: {
        readonly output: { readonly input: { prompt: string }; readonly output: { approved: boolean } };
      };
    };
    readonly createJobBrief: {
      readonly input: { title: string; requirements: string[] };
      readonly output: { jobBriefId: string };
    };
    readonly lookup_order: { readonly input: { orderId: string }; readonly output: { status: string } };
    readonly browser_upload: { readonly input: { fileName: string }; readonly output: { fileId: string } };
  };
  readonly data: Readonly<Record<never, never>>;
  readonly commands: {
    readonly refreshJobBrief: {
      readonly input: { jobBriefId: string };
      readonly output: { jobBriefId: string; status: string };
    };
  };
}

/** A contract whose runs cannot be without a rating. */
export interface RatedContract extends AgentContract {
  readonly metadata: { readonly rating: number | null };
  readonly tools: Readonly<Record<never, never>>;
  readonly data: Readonly<Record<never, never>>;
  readonly commands: Readonly<Record<never, never>>;
}
