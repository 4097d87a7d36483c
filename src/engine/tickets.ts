/** A place in the line of claims. */
export interface Ticket {
  /**
   * Runs `claim` once every earlier ticket was used or dropped: at once when it is the first in line, which is the
   * ordinary case, else later. What it throws is thrown, or rejects.
   */
  use<T>(claim: () => T): T | Promise<T>;
  /** The request could not be formed: the next in line may go on. */
  drop(): void;
}

/**
 * Claims happen in the order in which the requests were made, although a request's body may take a while to read: so
 * concurrent requests cannot take each other's track.
 */
export class TicketLine {
  readonly #line: { run: (() => void) | undefined; done: boolean }[] = [];
  #first = 0;

  take(): Ticket {
    const place = { run: undefined as (() => void) | undefined, done: false };
    this.#line.push(place);
    return {
      use: <T>(claim: () => T): T | Promise<T> => {
        if (this.#line[this.#first] === place) {
          try {
            return claim();
          } finally {
            this.#leave(place);
          }
        }
        return new Promise<T>((resolve, reject) => {
          place.run = () => {
            try {
              resolve(claim());
            } catch (error) {
              reject(error);
            }
            place.done = true;
          };
        });
      },
      drop: () => this.#leave(place),
    };
  }

  #leave(place: { done: boolean }): void {
    place.done = true;
    while (this.#first < this.#line.length) {
      const next = this.#line[this.#first] as { run: (() => void) | undefined; done: boolean };
      if (!next.done) {
        if (next.run === undefined) break;
        next.run();
      }
      this.#first++;
    }
    // The line is cut now and then, so that its length follows what waits and not what ever was.
    if (this.#first > 64 || this.#first === this.#line.length) {
      this.#line.splice(0, this.#first);
      this.#first = 0;
    }
  }
}
