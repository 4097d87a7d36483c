/** The part of a transport that a requirement is about. `core` is not optional; the others are declared in `supports`. */
export type RequirementProfile = "core" | "watch" | "heads" | "files" | "commands" | "regeneration";

/** One thing that every agent transport does, and the place where it is laid down. */
export interface Requirement {
  readonly id: string;
  /** What can be seen at the transport's boundary. */
  readonly behaviour: string;
  readonly source: { readonly page: "watch stream" | "mock transport"; readonly section: string };
  readonly profile: RequirementProfile;
}

type Page = Requirement["source"]["page"];

function rules<const Id extends string>(
  profile: RequirementProfile,
  page: Page,
  list: Readonly<Record<Id, readonly [section: string, behaviour: string]>>,
): (Requirement & { readonly id: Id })[] {
  return (Object.entries(list) as [Id, readonly [string, string]][]).map(([id, [section, behaviour]]) => ({
    id,
    behaviour,
    source: { page, section },
    profile,
  }));
}

const core = [
  ...rules("core", "mock transport", {
    "core.empty-thread": ["Mock Transport", "A thread that was never written to is an empty, idle one"],
    "core.send-settles": ["Basic Usage", "A send creates a run that answers and settles, and the thread is idle again"],
    "core.send-owns-input": [
      "Basic Usage",
      "A send appends the user's message, exactly once, under the id that it returns",
    ],
    "core.message-facts": ["Seeded State", "Each message states its producer, its run and its time under metadata.pai"],
    "core.tool-result": ["Response Queue", "A tool's result is a native tool part with its input and output"],
    "core.tool-error": ["Response Queue", "A tool's error is an output-error part and does not fail the run"],
    "core.tool-provenance": ["API Shape", "A tool part keeps the tool's name, and where it runs when that is known"],
    "core.run-error": ["Response Queue", "A failed run clears the active run and fails the thread"],
    "core.error-context": ["Response Queue", "The thread's error names the run, the operation and the user's message"],
    "core.runs-until-answered": [
      "Response Queue",
      "A run that has no answer yet stays running, and settles when one comes",
    ],
    "core.waiting": ["Seeded State", "A tool that waits leaves a pending action and a reserved suspension part"],
    "core.submit": ["Seeded State", "A submitted action is no longer pending, and its run goes on"],
    "core.submit-unknown": ["Seeded State", "An action that does not wait cannot be submitted"],
    "core.implicit-output": [
      "Response Queue",
      "A tool of the client waits on the action output, without a suspend's name",
    ],
    "core.declared-output": ["Response Queue", "A declared suspend called output keeps its name"],
    "core.rename": ["Response Queue", "A rename changes the title and starts no run"],
    "core.delete": ["Response Queue", "A deleted thread is listed no more, and is empty when asked for"],
    "core.tool-data": ["Response Queue", "Tool data that is written is kept on the tool's message"],
    "core.manifest": ["API Shape", "The manifest names the agent and is serialisable"],
  }),
  ...rules("core", "watch stream", {
    "core.state-whole": ["Snapshot", "A state has every field of the snapshot, empty ones too"],
    "core.safe-fields": [
      "Thread And Queue Events",
      "Storage fields (scope key, visibility, private metadata) never cross",
    ],
    "core.incarnation": [
      "Sequence And Version Rules",
      "A thread that is deleted and made again has another incarnation",
    ],
    "core.revision": ["Sequence And Version Rules", "Reads of one incarnation never go back in revision"],
    "core.queue": ["Thread And Queue Events", "A send while a run is active waits in the queue, and runs after it"],
  }),
];

const watch = rules("watch", "watch stream", {
  "watch.snapshot-first": ["Snapshot", "The first event is a snapshot: the state that a read gives"],
  "watch.raw-snapshot": ["Snapshot", "A snapshot keeps reserved parts and the records of pending actions"],
  "watch.include-initial": ["Snapshot", "With includeInitial false no snapshot comes first"],
  "watch.reconnect": ["Snapshot", "A new watch starts with a new snapshot"],
  "watch.admitted-first": ["Replay Authority", "A run is admitted, as running, before its generation starts"],
  "watch.started": [
    "Replay Authority",
    "A generation starts at seq 0 with the model's messages that were there before",
  ],
  "watch.sequence": ["Replay Authority", "The frames of a generation are numbered from 1 without a gap"],
  "watch.start-chunk": ["Replay Authority", "A message opens with a start chunk that carries its id and its facts"],
  "watch.base-messages": [
    "Replay Authority",
    "A resumed generation states the run's earlier model messages as its base",
  ],
  "watch.completed": ["Replay Authority", "A generation that answers is closed by generation.completed"],
  "watch.failed": [
    "Replay Authority",
    "A generation that fails is closed by generation.failed, with the thread's error",
  ],
  "watch.aborted": ["Native Generation Events", "An abort ends the stream of chunks, and its run is over"],
  "watch.native-chunks": [
    "Native Generation Events",
    "Text and tools come as the AI SDK's chunks and rebuild the stored message",
  ],
  "watch.no-checkpoints": ["Replay Authority", "Messages of an active generation are never appended whole"],
  "watch.late-replay": [
    "Watch Lifecycle And Repair",
    "A watch that opens during a generation gets its full replay, then what follows",
  ],
  "watch.versions": ["Sequence And Version Rules", "Every event that bears state bears a version"],
  "watch.revision": ["Sequence And Version Rules", "Sparse events never go back in revision"],
  "watch.one-incarnation": [
    "Sequence And Version Rules",
    "All events of one life of a thread have one incarnation, a new life another",
  ],
  "watch.live-only": ["Sequence And Version Rules", "Transient tool data comes at seq 0 and is not kept"],
  "watch.appended": ["Thread And Queue Events", "The user's message reaches the watchers outside of the generation"],
  "watch.run-updated": ["Thread And Queue Events", "The whole state of a run is told when it changes"],
  "watch.head-changed": ["Thread And Queue Events", "A rename reaches the watchers of the thread"],
  "watch.queue-added": ["Thread And Queue Events", "A queued item is told with its message"],
  "watch.queue-removed": ["Thread And Queue Events", "A queued item that runs is told as removed, being admitted"],
  "watch.abort": ["Watch Lifecycle And Repair", "A watch whose signal aborts ends, without an error"],
  "watch.two-watchers": ["Watch Lifecycle And Repair", "Two watchers of a thread see the same events"],
  "watch.own-thread": ["Watch Lifecycle And Repair", "A watcher sees the events of its own thread alone"],
  "watch.values": ["SSE Encoding", "Events arrive as they were sent: unknown fields, unknown types, every character"],
});

const heads = rules("heads", "mock transport", {
  "heads.snapshot": ["Imperative Events", "The first event of the list of threads is a snapshot of all heads"],
  "heads.created": ["Imperative Events", "A new thread reaches the watchers of the list"],
  "heads.attributes": ["Imperative Events", "A rename reaches the watchers of the list with the whole head"],
  "heads.status": ["Imperative Events", "A run that starts and ends reaches the watchers of the list"],
  "heads.deleted": ["Imperative Events", "A deleted thread reaches the watchers of the list"],
  "heads.abort": ["Imperative Events", "A watch of the list whose signal aborts ends, without an error"],
});

const files = rules("files", "mock transport", {
  "files.upload": ["Commands And Files", "An upload gets an id and keeps its name, type, size and metadata"],
  "files.bytes": ["Commands And Files", "A file is read back byte for byte"],
  "files.unknown": ["Commands And Files", "A file that is not there rejects"],
  "files.url": ["Commands And Files", "A file's URL is a text or null"],
});

const commands = rules("commands", "mock transport", {
  "commands.result": ["Commands And Files", "A command answers with its result"],
  "commands.input": ["Commands And Files", "A command receives its input as it was given"],
  "commands.error": ["Commands And Files", "A command that fails rejects with its message"],
  "commands.unknown": ["Commands And Files", "A command that nobody registered rejects"],
  "commands.no-run": ["Response Queue", "A command starts no run and takes no answer from the line"],
});

const regeneration = rules("regeneration", "mock transport", {
  "regeneration.retry": ["Response Queue", "A retry answers the failed user turn anew and clears the error"],
  "regeneration.retry-input": ["Response Queue", "A retry does not repeat the user's message"],
  "regeneration.retry-nothing": ["Response Queue", "A retry where nothing failed rejects"],
  "regeneration.regenerate": ["Response Queue", "A regeneration writes the last answer anew, in a run of its own"],
  "regeneration.fails": ["Response Queue", "A regeneration may fail like a send, and names its own operation"],
});

/** Every rule that can be seen at a transport's boundary. Each is cited by at least one scenario of the suite. */
export const requirements = [...core, ...watch, ...heads, ...files, ...commands, ...regeneration] as const;

/** The id of a rule: a scenario that cites another does not compile. */
export type RequirementId = (typeof requirements)[number]["id"];
