import type { JobHandler } from '../../../jobs/jobs.ts';

interface Handling {
  /** Handlers by the kind of their jobs. */
  readonly handlers: ReadonlyMap<string, JobHandler>;
}

/** Handlers of durable jobs of these kinds, in a part that is loaded when the first of them is due. */
export function lazyHandlers(
  kinds: readonly string[],
  load: () => Promise<Handling>,
): ReadonlyMap<string, JobHandler> {
  const handlerOf =
    (kind: string): JobHandler =>
    async (run) => {
      const handler = (await load()).handlers.get(kind);
      if (!handler) throw new Error(`nobody does the jobs ${kind}`);
      return handler(run);
    };
  return new Map(kinds.map((kind) => [kind, handlerOf(kind)]));
}
