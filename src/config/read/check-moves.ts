import { suggest } from '../../core/suggest.ts';
import { declaredOwner, identityIn } from '../objects/desired.ts';
import { CONFIG_KINDS } from '../objects/kinds.ts';
import { type Checked, entriesOf, isPerhapsSame } from './declared-names.ts';

/** Checks that a name is free after its move, its new one is declared, and neither occurs twice. */
export function checkMoves({ tree, places, namesOf, report }: Checked): void {
  const seen = new Map<string, number>();
  for (const [index, { kind: word, organization, ...names }] of entriesOf(tree, 'moved')) {
    const found = CONFIG_KINDS.find(({ kind }) => kind === word);
    if (found === undefined) continue;
    const { kind, isOwned } = found;
    const [from, to] = [String(names['from']).trim(), String(names['to']).trim()];
    const owner = isOwned ? declaredOwner(organization) : '';
    const declared = [...(namesOf(kind) ?? [])];
    const isDeclared = (name: string, isOwner: (one: string) => boolean): boolean =>
      declared.some(([one, owners]) => one === name && owners.some(isOwner));
    if (isDeclared(from, (one) => one === owner)) {
      const message = `${from} is still declared`;
      report(['moved', index, 'from'], { message, hint: 'remove one of the two' });
      continue;
    }
    if (!isDeclared(to, (one) => isPerhapsSame(one, owner))) {
      const near = declared.filter(([, owners]) => owners.includes(owner)).map(([one]) => one);
      const where = isOwned ? ` in organization ${owner}` : '';
      const hint = suggest(to, near) ?? `declare it${where}, or correct the entry`;
      report(['moved', index, 'to'], { message: `${to} is not declared`, hint });
      continue;
    }
    const sides = {
      to: `another object moves to ${to} already`,
      from: `${from} moves elsewhere already`,
    };
    for (const [side, message] of Object.entries(sides)) {
      const name = identityIn(organization, kind, side === 'to' ? to : from);
      const first = seen.get(`${side} ${kind} ${name}`) ?? index;
      seen.set(`${side} ${kind} ${name}`, first);
      if (first === index) continue;
      const { file, line, column } = places.find(tree, ['moved', first]);
      const hint = `the first is at ${file}:${line}:${column}; remove one of them`;
      report(['moved', index, side], { message, hint });
      break;
    }
  }
}
