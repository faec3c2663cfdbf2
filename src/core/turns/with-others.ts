/** Fewer at a time gain nothing by it, and each would wait for the end of the turn. */
const MANY = 4;

/** Module state, since it stands for the one event loop of the process. Empty between two turns. */
let gathered: (() => void)[] = [];

/**
 * Does a short piece of work at the end of this turn of the event loop, together with what others of
 * the turn brought; at once where only a few are served. Between the reads of sockets, each piece would find
 * the code and the data of the other kinds of work in the caches of the processor, and each answer would
 * wake its reader alone: that costs up to half as much again.
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
      // An exception that nobody caught, as it would be between two reads; it takes nothing from the others.
      setImmediate(() => {
        throw thrown;
      });
    }
  }
}
