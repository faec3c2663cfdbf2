const UNITS: Readonly<Record<string, number>> = {
  B: 1,
  KB: 1000,
  MB: 1000 ** 2,
  GB: 1000 ** 3,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
};

/** Bytes from a number of bytes or a text as `32MiB`; undefined when it is neither. */
export function parseSize(size: string | number): number | undefined {
  if (typeof size === 'number') return Number.isSafeInteger(size) && size >= 0 ? size : undefined;
  const match = /^(\d+(?:\.\d+)?) ?(B|[KMG]i?B)$/.exec(size.trim());
  if (match === null) return undefined;
  const bytes = Math.round(Number(match[1]) * (UNITS[match[2]!] ?? 1));
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}
