import { toShellArguments, toShellWord } from '../../core/shell-word.ts';
import { parseFilter } from './request-filter.ts';
import type { RequestsView } from './requests-view.ts';

/** The command line that shows the same as a view of the Requests page, as far as there is one. */
export function toLogsCommand({ open, filter, last }: RequestsView): string {
  if (open !== '') return `gateway logs ${toShellArguments(open)}`;
  const flags = parseFilter(filter).flatMap(({ field, value, isExcluded }) => {
    if (isExcluded || /[*<>]/.test(value)) return [];
    if (field === 'model') return [`--model ${toShellWord(value)}`];
    if (field === 'key') return [`--key ${toShellWord(value)}`];
    return field === 'status' || field === 'result' ? [`--status ${toShellWord(value)}`] : [];
  });
  return ['gateway logs --follow', ...flags, ...(last === '' ? [] : [`--since ${last}`])].join(' ');
}
