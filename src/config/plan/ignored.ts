import type { DesiredObject } from '../objects/desired.ts';
import type { View } from '../actual/actual.ts';
import { viewField } from '../actual/changes.ts';
import { readMemberPath } from '../objects/member-path.ts';
import { isRecord } from '../objects/record.ts';

/** Fields of which nothing is compared nor written, and labels likewise. */
export interface Ignored {
  readonly fields: ReadonlySet<string>;
  readonly labels: ReadonlySet<string>;
}

/** Members that `ignore_changes` names as a whole. */
export function ignoredOf({ lifecycle }: DesiredObject): Ignored {
  const paths = pathsOf(lifecycle.ignore_changes);
  return {
    fields: new Set(paths.filter(({ length }) => length === 1).map(([field]) => String(field))),
    labels: new Set(
      paths
        .filter(([field, name]) => field === 'labels' && name !== undefined)
        .map(([, name]) => String(name)),
    ),
  };
}

/**
 * The declaration of an object that exists, with the value of the server at every path of
 * `ignore_changes`, so that neither a comparison nor a write touches it there.
 */
export function withIgnored(object: DesiredObject, view: View): DesiredObject {
  const paths = pathsOf(object.lifecycle.ignore_changes);
  if (paths.length === 0) return object;
  const body: Record<string, unknown> = { ...object.body };
  const labels = { ...object.labels };
  for (const [field = '', ...rest] of paths) {
    const name = String(field);
    if (name === 'labels') {
      for (const label of rest.length === 0 ? Object.keys(labels) : [String(rest[0])])
        delete labels[label];
    } else if (rest.length === 0) delete body[name];
    else if (name in body)
      body[name] = replaced(body[name], view[viewField(object.kind, name)], rest);
  }
  return { ...object, body, labels };
}

function pathsOf(paths: readonly string[] = []): (string | number)[][] {
  return paths.flatMap((path) => {
    const parts = readMemberPath(path);
    return parts ? [parts] : [];
  });
}

/** The declared value with the server's at one path; unchanged where one of them ends before. */
function replaced(declared: unknown, server: unknown, path: readonly (string | number)[]): unknown {
  const [part, ...rest] = path;
  if (part === undefined) return server;
  if (typeof part === 'number') {
    if (!Array.isArray(declared) || !Array.isArray(server) || part >= declared.length)
      return declared;
    return declared.map((member, index) =>
      index === part ? replaced(member, server[index], rest) : (member as unknown),
    );
  }
  if (!isRecord(declared) || !isRecord(server)) return declared;
  const { [part]: before, ...others } = declared;
  const value = replaced(before, server[part], rest);
  return value === undefined || value === null ? others : { ...others, [part]: value };
}
