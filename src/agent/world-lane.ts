/** One thing after the other. Work is begun at once, synchronously, where nothing is under way. */
export type Lane = <R>(work: () => R | Promise<R>) => Promise<R>;

/** A lane with nothing in it. Work that fails rejects its own promise and holds up nothing. */
export function createLane(): Lane {
  let tail: Promise<unknown> | undefined;
  return (work) => {
    const run = async () => work();
    if (tail !== undefined) return follow(tail.then(run));
    let begun: ReturnType<typeof work>;
    try {
      begun = work();
    } catch (error) {
      return Promise.reject(error);
    }
    return begun instanceof Promise ? follow(begun) : Promise.resolve(begun);
  };

  function follow<R>(running: Promise<R>): Promise<R> {
    const settled = running.then(free, free);
    tail = settled;
    function free(): void {
      if (tail === settled) tail = undefined;
    }
    return running;
  }
}
