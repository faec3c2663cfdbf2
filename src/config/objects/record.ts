/** A plain mapping of the configuration: neither a list nor a reference. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  );
}

/** JSON with the members of every object in order of their names; equal values give equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(ordered(value));
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((member) => ordered(member));
  if (!isRecord(value)) return value;
  const result: Record<string, unknown> = {};
  for (const name of Object.keys(value).sort()) result[name] = ordered(value[name]);
  return result;
}
