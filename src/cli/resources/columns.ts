import type { ResourceView } from '../../client/admin.ts';
import { isRecord } from '../../client/http/guards.ts';
import { factsOf, type Collection } from '../../core/kinds.ts';
import { isReference, referenceText } from '../details/references.ts';
import { spendingText } from '../input/spending-limit.ts';
import type { Column } from '../output/table.ts';

/** Forms for people of members that tables do not show as they are. */
const FORMS: Readonly<Record<string, (value: unknown) => unknown>> = {
  spending_limit: spendingText,
  model: (model) => (isRecord(model) ? model['id'] : model),
  harness: (harness) => (isRecord(harness) ? harness['name'] : harness),
  protocols: (names) => (Array.isArray(names) ? names.join(', ') : names),
};

/** Columns of the table that `list` shows. */
export function columnsOf(kind: Collection): Column<ResourceView>[] {
  const { columns, switch: onOff } = factsOf(kind);
  const shown = columns ?? {
    NAME: 'name',
    ...(onOff && { [onOff.toUpperCase()]: onOff }),
    ID: 'id',
  };
  return Object.entries(shown).map(([title, member]) => {
    if (isReference(member)) return { title, value: (row) => referenceText(row, member) };
    const toShown = FORMS[member] ?? ((value) => value);
    return { title, value: (row) => toShown(row[member]) };
  });
}
