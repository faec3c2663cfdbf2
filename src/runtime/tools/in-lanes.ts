/** Does `work` for all of them, at most so many at once. Waits for all; then rejects if one did. */
export async function inLanes<T>(
  items: readonly T[],
  lanes: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = [...items];
  const lane = async (): Promise<void> => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await work(item);
  };
  const ends = await Promise.allSettled(
    Array.from({ length: Math.min(lanes, items.length) }, lane),
  );
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}
