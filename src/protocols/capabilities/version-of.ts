/** Minor versions below one major version. */
const MINORS = 1000;
const VERSION = String.raw`(\d{1,2})(?:[-.](\d{1,2})(?!\d))?(?!\d)`;

/** Finds the version of a model whose name fits one pattern; see `Rule.models` for patterns. */
export function versionFinder(pattern: string): (model: string) => number | undefined {
  const source = pattern
    .replaceAll('.', String.raw`\.`)
    .replaceAll('*', '[a-z]+')
    .replaceAll('#', VERSION);
  const end = pattern.endsWith('#') ? '' : '(?![a-z0-9])';
  const expression = new RegExp(`(?<![a-z0-9])${source}${end}`, 'i');
  return (model) => {
    const found = expression.exec(model);
    return found ? Number(found[1] ?? 0) * MINORS + Number(found[2] ?? 0) : undefined;
  };
}

/** Version of a rule as a number that can be compared with those of {@link versionFinder}. */
export function toVersion(text: string): number {
  const [major = '0', minor = '0'] = text.split('.');
  return Number(major) * MINORS + Number(minor);
}
