import { suggest } from '../../core/suggest.ts';
import type { OperatorNames } from '../../resources/kinds/agent-fields.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import { formatPath, type Path, type Places, valueAt } from '../source/locate.ts';
import { isRecord } from '../objects/record.ts';

type Tree = Readonly<Record<string, unknown>>;
type Problem = Pick<Diagnostic, 'message' | 'hint'> & { readonly path: Path };

/** Collections whose entries are made of the parts of an Agent, and the path of these parts. */
const CARRIERS: readonly (readonly [collection: string, below: Path])[] = [
  ['agents', []],
  ['services', ['runtime']],
  ['deployments', ['runtime']],
  ['deployments', ['agent_config']],
];

/**
 * Servers and harnesses that Agents name and the `server` section does not declare, as a start
 * refuses them. A file without that section is for a gateway that may declare them: it passes.
 */
export function checkPrograms(
  tree: Tree,
  { places, operator }: { places: Places; operator: OperatorNames },
): Diagnostic[] {
  if (!isRecord(tree['server'])) return [];
  return carriersIn(tree)
    .flatMap((path) => [
      ...serverProblems(tree, path, operator),
      ...harnessProblems(tree, path, operator),
    ])
    .map(({ path, ...problem }) => ({
      ...places.find(tree, path),
      path: formatPath(path),
      severity: 'error',
      ...problem,
    }));
}

function serverProblems(tree: Tree, path: Path, { mcpServers }: OperatorNames): Problem[] {
  return listAt(tree, [...path, 'mcp_servers']).flatMap((server, index) => {
    const at = [...path, 'mcp_servers', index, 'server'];
    const isProgram = isRecord(server) && server['type'] === 'stdio';
    return isProgram ? undeclared({ tree, path: at, section: 'mcp_servers' }, mcpServers) : [];
  });
}

function harnessProblems(tree: Tree, path: Path, operator: OperatorNames): Problem[] {
  const at = [...path, 'harness'];
  if (!isRecord(valueAt(tree, at))) {
    return undeclared({ tree, path: at, section: 'harnesses' }, operator.harnesses);
  }
  if (operator.harnessesInline) return [];
  const message = 'a command is taken only with server.harnesses_inline';
  return [{ path: at, message, hint: 'declare it under server.harnesses and name it here' }];
}

function undeclared(
  { tree, path, section }: { tree: Tree; path: Path; section: string },
  known: ReadonlySet<string>,
): Problem[] {
  const name = valueAt(tree, path);
  if (typeof name !== 'string' || known.has(name)) return [];
  const message = `${name} is not declared in server.${section}`;
  return [{ path, message, hint: suggest(name, [...known]) ?? 'declare it there' }];
}

function carriersIn(tree: Tree): Path[] {
  return CARRIERS.flatMap(([collection, below]) =>
    listAt(tree, [collection]).map((_entry, index): Path => [collection, index, ...below]),
  );
}

function listAt(tree: Tree, path: Path): readonly unknown[] {
  const value = valueAt(tree, path);
  return Array.isArray(value) ? value : [];
}
