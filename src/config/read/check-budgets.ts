import { suggest } from '../../core/suggest.ts';
import { declaredOwner } from '../objects/desired.ts';
import { isRecord } from '../objects/record.ts';
import { isPerhapsSame } from './declared-names.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import { formatPath, type Path, type Places } from '../source/locate.ts';
import { createModelCheck } from './check-aliases.ts';

type Tree = Record<string, unknown>;
type Problem = Pick<Diagnostic, 'severity' | 'message' | 'hint'>;

/** Ids name keys that no file declares, and so do the keys of tokens, `ISSUER/SUBJECT`. */
const UNDECLARED = /^key_|\//;

/**
 * Finds budgets that answer calls by a model which nothing declares, and warns of those that name models
 * or keys which are not there: they would hold no call. What only the server can know is left to it.
 */
export function checkBudgets(tree: Tree, places: Places): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const faultOf = createModelCheck(tree);
  const keysOf = readKeys(tree);
  const report = (path: Path, problem: Problem): void =>
    void diagnostics.push({ ...places.find(tree, path), path: formatPath(path), ...problem });
  for (const [index, budget] of entriesOf(tree, 'budgets').entries()) {
    const { on_exceed: exceed, match } = budget;
    const target = isRecord(exceed) ? exceed['downgrade'] : undefined;
    const fault = typeof target === 'string' ? faultOf(target.trim(), true) : undefined;
    if (fault)
      report(['budgets', index, 'on_exceed', 'downgrade'], { severity: 'error', ...fault });
    const { models, keys } = isRecord(match) ? match : {};
    for (const [position, name] of textsOf(models)) {
      const missing = faultOf(name, false);
      if (!missing) continue;
      const message = `${missing.message}; the budget counts no call by it`;
      const path = ['budgets', index, 'match', 'models', position];
      report(path, { ...missing, severity: 'warning', message });
    }
    const known = keysOf(budget['organization']);
    for (const [position, name] of known ? textsOf(keys) : []) {
      if (known?.has(name) || UNDECLARED.test(name)) continue;
      const message = `no key of the organization is named ${name} here; the gateway refuses the budget unless it has one`;
      const hint = suggest(name, [...(known ?? [])]);
      const path = ['budgets', index, 'match', 'keys', position];
      report(path, { severity: 'warning', message, ...(hint !== undefined && { hint }) });
    }
  }
  return diagnostics;
}

/** Names of the declared keys of an organization; undefined without declared keys. */
function readKeys(tree: Tree): (organization: unknown) => ReadonlySet<string> | undefined {
  if (!Array.isArray(tree['keys'])) return () => undefined;
  const keys = entriesOf(tree, 'keys');
  return (organization) =>
    new Set(
      keys
        .filter((key) =>
          isPerhapsSame(declaredOwner(key['organization']), declaredOwner(organization)),
        )
        .map(({ name }) => String(name).trim()),
    );
}

function textsOf(value: unknown): [number, string][] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((one, index) =>
    typeof one === 'string' ? [[index, one.trim()] as [number, string]] : [],
  );
}

function entriesOf(tree: Tree, section: string): Readonly<Tree>[] {
  const list = tree[section];
  return Array.isArray(list) ? list.map((entry) => (isRecord(entry) ? entry : {})) : [];
}
