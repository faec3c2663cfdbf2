import { anything, count, flag, list, oneOf, orNull, record, text, texts, words } from './shape.ts';
import type { Shape } from './shape.ts';

const CONTEXT = record({
  name: text,
  current: flag,
  server: text,
  organization: orNull(text),
  key: orNull(text),
  key_name: orNull(text),
});
const CHOSEN = record({ context: text });
const scopes = orNull(texts);

/** Shapes of the commands that show or choose the server and the key. */
export const CONNECTION_SHAPES: Readonly<Record<string, Shape>> = {
  login: record({
    context: text,
    server: text,
    organization: text,
    key: text,
    key_name: text,
    scopes,
    file: text,
  }),
  logout: record({ context: orNull(text), removed: flag }),
  whoami: record({
    server: text,
    server_from: text,
    context: orNull(text),
    organization: text,
    organization_id: text,
    key: text,
    key_from: text,
    key_name: text,
    key_id: text,
    scopes,
    role: orNull(text),
  }),
  console: record({ href: text, expires_at: text, opened: flag }),
  'config get-contexts': list(CONTEXT),
  'config current-context': CHOSEN,
  'config use-context': CHOSEN,
  'config delete-context': record({ context: text, removed: flag }),
  'config view': record({
    settings: list(record({ name: text, value: anything }, { origin: text })),
    files: texts,
  }),
  connect: oneOf(
    record({
      tools: list(record({ name: text, title: text, summary: text, protocol: text })),
    }),
    record(
      {
        tool: text,
        title: text,
        protocol: text,
        server: text,
        key: text,
        model: text,
        models: texts,
        env: { type: 'object', additionalProperties: text },
        args: texts,
        files: list(record({ path: text, format: text, content: text })),
        steps: texts,
      },
      { background: text, plan: text },
    ),
    record({ tool: text, files: list(record({ file: text, backup: orNull(text) })) }),
    record({ tool: text, restored: texts }),
  ),
  selftest: record({
    against: text,
    passed: count,
    failed: count,
    skipped: count,
    checks: list(
      record({ id: text, title: text, state: words('pass', 'fail', 'skip') }, { reason: text }),
    ),
  }),
};
