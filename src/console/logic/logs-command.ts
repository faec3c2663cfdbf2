import { toShellArguments, toShellWord } from '../../core/shell-word.ts';
import { parseFilter, toServerQuery } from './request-filter.ts';
import type { RequestsView } from './requests-view.ts';

/** The command line that shows the same as a view of the Requests page, as far as there is one. */
export function toLogsCommand({ open, filter, last }: RequestsView): string {
  if (open !== '') return `gateway logs ${toShellArguments(open)}`;
  const terms = parseFilter(filter);
  const flags = terms.flatMap(({ field, value, isExcluded }) => {
    if (isExcluded || value === '' || /[*<>]/.test(value)) return [];
    return field === 'model' || field === 'key' ? [`--${field} ${toShellWord(value)}`] : [];
  });
  // A status that the server cannot filter by would find nothing.
  const { status } = toServerQuery(terms);
  if (status !== undefined) flags.push(`--status ${status}`);
  return ['gateway logs --follow', ...flags, ...(last === '' ? [] : [`--since ${last}`])].join(' ');
}
