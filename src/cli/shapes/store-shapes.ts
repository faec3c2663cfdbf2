import { INVALID } from './config-shapes.ts';
import { count, flag, list, oneOf, orNull, record, text } from './shape.ts';
import type { Shape } from './shape.ts';

const PROBLEM = record({ where: text, what: text });

export const STORE_SHAPES: Readonly<Record<string, Shape>> = {
  'store backup': oneOf(
    record({
      directory: text,
      created_at: text,
      store: record({
        driver: text,
        format: count,
        identity: orNull(text),
        rows: count,
        checksum: text,
      }),
      media_files: count,
      bytes: count,
      master_key_included: flag,
    }),
    INVALID,
  ),
  'store restore': oneOf(
    record({
      store: text,
      media: text,
      created_at: text,
      identity: orNull(text),
      rows: count,
      media_files: count,
      former_store: orNull(text),
    }),
    INVALID,
  ),
  'store admin-key': oneOf(
    record({
      id: text,
      name: text,
      organization: text,
      file: text,
      former_file: orNull(text),
      former: list(record({ id: text, name: text, hint: text, created_at: text })),
    }),
    INVALID,
  ),
  'store verify': oneOf(
    record({
      what: text,
      format: count,
      identity: orNull(text),
      created_at: orNull(text),
      rows: orNull(count),
      bytes: orNull(count),
      checksum: orNull(text),
      segments: { type: 'object', additionalProperties: count },
      problems: list(PROBLEM),
    }),
    INVALID,
  ),
  'store migrate': record({
    from: text,
    to: text,
    rows: count,
    bytes: count,
    checksum: text,
    setting: orNull(text),
  }),
};
