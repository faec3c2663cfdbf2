import { CONFIG_KINDS } from '../objects/kinds.ts';
import { isRecord } from '../objects/record.ts';
import type { Places } from '../source/locate.ts';

/**
 * Makes a list of each section that is written as a mapping of names, in place, for kinds that allow
 * it; every entry stays where it was written.
 */
export function listEntries(document: Record<string, unknown>, places: Places): void {
  for (const { collection, definition } of CONFIG_KINDS) {
    const section = document[collection];
    const { shortForm } = definition;
    if (shortForm !== undefined && isRecord(section))
      document[collection] = toList(section, shortForm, places);
  }
}

function toList(
  section: Record<string, unknown>,
  field: string,
  places: Places,
): Record<string, unknown>[] {
  const list = Object.entries(section).map(([name, value], index) => {
    const key = places.find(section, [name], 'key');
    const entry = isRecord(value) ? value : { [field]: value };
    if (entry !== value) {
      places.markContainer(entry, key);
      places.markMember(entry, field, { key, value: places.find(section, [name]) });
      if (places.isInterpolated(section, [name])) places.markInterpolated(entry, field);
    }
    places.markMember(entry, 'name', { key, value: key });
    return { index, key, entry: Object.assign(entry, { name }) };
  });
  const entries = list.map(({ entry }) => entry);
  places.markContainer(entries, places.find(section, []));
  for (const { index, key } of list) places.markMember(entries, index, { key, value: key });
  return entries;
}
