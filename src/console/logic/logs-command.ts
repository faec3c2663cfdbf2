import { parseFilter } from './request-filter.ts';
import type { RequestsView } from './requests-view.ts';

/** The command line that shows the same as a view of the Requests page, as far as there is one. */
export function toLogsCommand({ open, filter, last }: RequestsView): string {
  if (open !== '') return `gateway logs ${open}`;
  const flags = parseFilter(filter).flatMap(({ field, value, isExcluded }) => {
    if (isExcluded || /[*<>\s]/.test(value)) return [];
    if (field === 'model') return [`--model ${value}`];
    if (field === 'key') return [`--key ${value}`];
    return field === 'status' || field === 'result' ? [`--status ${value}`] : [];
  });
  return ['gateway logs --follow', ...flags, ...(last === '' ? [] : [`--since ${last}`])].join(' ');
}
