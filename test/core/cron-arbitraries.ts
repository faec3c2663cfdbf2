import fc from 'fast-check';

const between = (min: number, max: number) => fc.integer({ min, max });

/** One field of an expression, in every form of the dialect; often a `*`. */
function field(min: number, max: number): fc.Arbitrary<string> {
  const range = fc
    .tuple(between(min, max), between(min, max))
    .map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
  const step = between(1, Math.max(1, max - min));
  const part = fc.oneof(
    { arbitrary: between(min, max).map(String), weight: 4 },
    { arbitrary: range, weight: 2 },
    { arbitrary: fc.tuple(range, step).map(([of, by]) => `${of}/${by}`), weight: 1 },
  );
  return fc.oneof(
    { arbitrary: fc.constant('*'), weight: 4 },
    { arbitrary: step.map((by) => `*/${by}`), weight: 1 },
    {
      arbitrary: fc.array(part, { minLength: 1, maxLength: 3 }).map((all) => all.join()),
      weight: 6,
    },
  );
}

/** Five fields; some of them never fire. */
export const expressions = fc
  .tuple(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 7))
  .map((fields) => fields.join(' '));

export const FIXED_ZONES = ['UTC', 'Asia/Kolkata', 'Asia/Tokyo', 'Africa/Lagos', 'America/Phoenix'];
export const CHANGING_ZONES = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'America/St_Johns',
  'Pacific/Auckland',
];

/** An instant of 2020 to 2035, in ms since epoch. */
export const instants = between(Date.UTC(2020, 0, 1) / 1_000, Date.UTC(2035, 0, 1) / 1_000).map(
  (seconds) => seconds * 1_000,
);
