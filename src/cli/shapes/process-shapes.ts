import { anything, count, flag, list, oneOf, orNull, record, text, texts } from './shape.ts';
import type { Shape } from './shape.ts';

const CHANGE = record({ action: text, kind: text, identity: text, paths: texts });

/** Shapes of the commands on the process that runs here. */
export const PROCESS_SHAPES: Readonly<Record<string, Shape>> = {
  status: oneOf(
    record({ running: { const: false }, data_dir: text }),
    record({
      running: { const: true },
      data_dir: text,
      pid: orNull(count),
      since: orNull(text),
      version: orNull(text),
      url: text,
      files: texts,
      watch: flag,
      last: orNull(record({ action: text, at: count, error: orNull(text) })),
      others: list(record({ pid: orNull(count), url: text })),
      gateway: orNull(
        record({
          version: text,
          store: record({ driver: text, state: text }),
          workers: list(record({ id: text, since: text })),
          providers: list(record({ name: text, routes: list(anything) })),
        }),
      ),
      sessions_waiting: orNull(count),
      problem: orNull(text),
    }),
  ),
  reload: record({
    pid: count,
    files: texts,
    error: orNull(text),
    problems: texts,
    changes: list(CHANGE),
    left: count,
    later: texts,
  }),
  stop: record({ pid: count, url: text, ms: count, others: count }),
};
