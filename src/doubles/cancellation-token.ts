/** A run that is asked to stop. */
export class CancellationToken {
  readonly #controller = new AbortController();

  get cancelled(): boolean {
    return this.#controller.signal.aborted;
  }
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The first reason stays. */
  cancel(reason: unknown = new Error("the run was cancelled")): void {
    this.#controller.abort(reason);
  }

  /** Throws the reason. */
  throwIfCancelled(): void {
    this.#controller.signal.throwIfAborted();
  }
}
