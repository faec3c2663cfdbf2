import {
  anything,
  count,
  flag,
  list,
  number,
  oneOf,
  orNull,
  record,
  text,
  texts,
  words,
} from './shape.ts';

export const DIAGNOSTIC = record(
  {
    file: text,
    line: count,
    column: count,
    path: text,
    severity: words('error', 'warning'),
    message: text,
  },
  { hint: text },
);

/** Output of commands that load the files when these are invalid. */
export const INVALID = record({ diagnostics: list(DIAGNOSTIC) });
export const VALID = record({ files: texts, diagnostics: list(DIAGNOSTIC) });

/** Faults of one object that the command line gives. */
export const FAULTY = record({
  diagnostics: list(
    record({ path: text, severity: words('error', 'warning'), message: text }, { hint: text }),
  ),
});

const CHANGE = record(
  { path: text, field: text, old: anything, new: anything },
  {
    secret: { const: true },
    reset: { const: true },
    origin: words('configuration', 'server', 'both'),
    fingerprints: texts,
  },
);
const named = { kind: text, identity: text };
const ACTION = record(
  {
    ...named,
    action: words('create', 'update', 'replace', 'delete', 'disable', 'revoke', 'archive', 'none'),
    id: orNull(text),
    version: orNull(number),
    changes: list(CHANGE),
    reason: text,
    ownership: words('own', 'other', 'none'),
  },
  {
    steps: list(words('pause', 'update', 'unpause')),
    note: text,
    basis: { type: 'object', additionalProperties: text },
    forcedBy: texts,
  },
);

const LEFT_OUT = list(record({ ...named, id: orNull(text), reason: text }));

export const PLAN = record(
  {
    format: { const: 1 },
    namespace: text,
    mode: text,
    target: orNull(record({ server: text, organization: text })),
    actions: list(ACTION),
    conflicts: list(record({ ...named, id: text, owner: text })),
    fixed: list(
      record(
        { ...named, id: orNull(text), fields: texts, reason: text, hint: text },
        { holder: text },
      ),
    ),
    ambiguous: list(record({ ...named, ids: texts })),
    lost: list(record({ ...named, id: text })),
    unknown: list(record(named)),
    prunable: list(record({ ...named, id: text })),
    confirmPrune: orNull(number),
    irreversible: list(record(named)),
    summary: record({
      create: count,
      update: count,
      replace: count,
      remove: count,
      none: count,
      total: count,
    }),
  },
  {
    waiting: LEFT_OUT,
    uncompared: record({ why: words('no value', 'refused'), secrets: texts }),
    kept: LEFT_OUT,
    renames: list(record({ kind: text, from: text, to: text }, { organization: text })),
    secrets: list(
      record({ ...named, id: text, field: text, stored: text, given: text, command: text }),
    ),
    follows: texts,
  },
);

const OUTCOMES = list(record({ ...named, action: text, id: orNull(text) }, { reason: text }));
export const REPORT = record(
  {
    applied: OUTCOMES,
    failed: OUTCOMES,
    blocked: OUTCOMES,
    notRun: OUTCOMES,
    issued: list(record({ identity: text, value: text })),
  },
  { unrecorded: text },
);

export const DRIFT = record({
  drifted: list(
    record(
      {
        ...named,
        id: orNull(text),
        what: words('changed', 'deleted', 'added'),
        changes: list(CHANGE),
      },
      { obstacle: record({ reason: text, hint: text }) },
    ),
  ),
  pending: count,
});
export const ADOPTED = record({
  namespace: text,
  adopted: list(record({ ...named, id: text })),
  missing: count,
});
export const TRANSFERRED = record({
  to: text,
  done: flag,
  objects: list(record({ ...named, id: text, from: text })),
  already: count,
});
export const DUMPED = oneOf(record({ version: number }), record({ directory: text, files: texts }));
export const EXPLANATION = record({
  path: text,
  type: text,
  required: flag,
  description: orNull(text),
  update: orNull(text),
  members: list(record({ name: text, description: orNull(text) })),
});
export const FINDINGS = record({
  findings: list(record({ name: text, state: words('ok', 'warn', 'bad'), message: text })),
});
