/** Fewer at a time gain nothing by it, and each would wait for the end of the turn. */
const MANY = 4;

/** Module state, since the process has one event loop. Empty between two ticks. */
let gathered: (() => void)[] = [];

/**
 * Does a short piece of work at the end of this tick, together with that of others in the tick; at once where
 * only a few are served. Between the reads of sockets, each piece would find the code and the data of the other
 * kinds of work in the caches of the processor, and each answer would wake its reader separately: that costs up
 * to half as much again.
 *
 * @param count those who are served at the moment, this one included
 */
export function withOthers(work: () => void, count: number): void {
  if (count < MANY) work();
  else if (gathered.push(work) === 1) setImmediate(doAll);
}

function doAll(): void {
  const all = gathered;
  gathered = [];
  for (const work of all) {
    try {
      work();
    } catch (thrown) {
      // An uncaught exception, as it would be between two reads; it takes nothing from the others.
      setImmediate(() => {
        throw thrown;
      });
    }
  }
}
