import { GatewayError } from '../../core/errors.ts';
import type { Op } from '../../store/store.ts';
import { refuseMethod } from '../store/refuse-method.ts';
import type { ResourceReply } from '../store/resource-request.ts';
import { readLimit } from '../store/list-query.ts';
import type { ChildInput, ResourceAccess, Target } from '../store/define-resource.ts';
import { isArchived } from '../store/stored.ts';
import type { Stored } from '../store/stored.ts';
import {
  digestsOf,
  getSkillVersion,
  listSkillVersions,
  newVersionOf,
  readSkillFiles,
  versionRemovals,
} from './skill-store.ts';
import type { SkillVersion } from './skill-store.ts';
import { toZip } from './zip.ts';

const ID = /^skillver_[0-9a-z]{1,64}$/;

/** `/v1/skills/{id}/versions` and below: list, create, get, delete, content (requirement skills.crud). */
export async function serveSkillVersions(input: ChildInput): Promise<ResourceReply> {
  const { method } = input.request;
  const [id, child, ...rest] = input.segments;
  if (rest.length > 0 || (child !== undefined && child !== 'content')) throw noSuchPath();
  if (id === undefined) {
    if (method === 'GET') return list(input);
    if (method === 'POST') return create(input);
    throw refuseMethod(['GET', 'POST']);
  }
  const { repository, stored } = input;
  const version = ID.test(id) ? await getSkillVersion(repository.store, stored.id, id) : undefined;
  if (!version) {
    const message = `skill ${stored.id} has no version ${id.slice(0, 80)}`;
    throw new GatewayError('not_found', { message });
  }
  if (child === 'content') {
    if (method !== 'GET') throw refuseMethod(['GET']);
    return content(repository, version);
  }
  if (method === 'GET') return { status: 200, body: toView(version) };
  if (method !== 'DELETE') throw refuseMethod(['GET', 'DELETE']);
  await removeVersion(input, version);
  return { status: 200, body: { id, type: 'skill_version_deleted', deleted: true } };
}

function toView({ id, skillId, name, description, createdAt }: SkillVersion): object {
  return {
    id,
    type: 'skill_version',
    skill_id: skillId,
    name,
    description,
    created_at: createdAt,
  };
}

async function list({ repository, stored, request }: ChildInput): Promise<ResourceReply> {
  const limit = readLimit(request.query);
  const before = readCursor(stored, request.query.get('page'));
  const found = await listSkillVersions(repository.store, stored.id, { before, limit: limit + 1 });
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const next = found.length > limit && last ? toCursor(stored, last.id) : null;
  return { status: 200, body: { data: page.map(toView), next_page: next } };
}

async function create({ repository, stored, request }: ChildInput): Promise<ResourceReply> {
  const { files } = await request.body();
  if (files === undefined || files === null) {
    throw new GatewayError('invalid_request', { message: 'files: are required', param: 'files' });
  }
  const { named } = request;
  const target: Target = {
    ...targetOf(repository, stored, request),
    ...(named && {
      also: async (_next: Stored, ops: readonly Op[]) => {
        const version = newVersionOf(ops, stored.id);
        return version ? named.answered(toReply(version)) : [];
      },
    }),
  };
  const updated = await repository.update(target, { files });
  const id = String(updated.state['latest_version_id']);
  const made = await getSkillVersion(repository.store, stored.id, id);
  if (!made) throw new GatewayError('conflict', { message: 'the version is deleted again' });
  return toReply(made);
}

const toReply = (version: SkillVersion): ResourceReply => ({ status: 201, body: toView(version) });

async function content(repository: ResourceAccess, version: SkillVersion): Promise<ResourceReply> {
  const files = await readSkillFiles(repository.store, version);
  if (!files) throw new GatewayError('not_found', { message: `no version ${version.id}` });
  const entries = files.map(({ path, bytes }) => ({ path: `${version.name}/${path}`, bytes }));
  return {
    status: 200,
    body: toZip(entries, new Date(version.createdAt)),
    headers: {
      'content-type': 'application/zip',
      'content-disposition': `attachment; filename="${version.name}.zip"`,
      'x-content-type-options': 'nosniff',
    },
  };
}

/** @throws GatewayError `conflict` for the last one and one that an Agent or Service has */
async function removeVersion(
  { repository, stored, request }: ChildInput,
  version: SkillVersion,
): Promise<void> {
  await refuseUsed(repository, stored, version.id);
  await repository.note(targetOf(repository, stored, request), async () => {
    const [newest, second] = await listSkillVersions(repository.store, stored.id, { limit: 2 });
    if (!newest || !second) {
      const message = 'the last version stays; delete the Skill';
      throw new GatewayError('conflict', { message, type: 'last_version', retry: false });
    }
    const latest = newest.id === version.id ? second : newest;
    return {
      action: 'delete_version',
      state: { latest_version_id: latest.id, description: latest.description },
      spec: { files: digestsOf(latest) },
      ops: versionRemovals(version),
    };
  });
}

async function refuseUsed(
  repository: ResourceAccess,
  stored: Stored,
  version: string,
): Promise<void> {
  const { id, organization } = stored;
  const hasIt = (skills: unknown): boolean =>
    Array.isArray(skills) && skills.some((one) => one.skill_id === id && one.version === version);
  for (const kind of ['agent', 'endpoint']) {
    const [user] = await repository.list(repository.definitionOf(kind), {
      organization,
      limit: 1,
      matches: (user) => !isArchived(user) && hasIt(skillsOf(user.spec)),
    });
    if (!user) continue;
    const message = `the version cannot be deleted: it is used by ${kind} ${user.spec.name}`;
    throw new GatewayError('conflict', { message, type: 'in_use', retry: false });
  }
}

/** Skills of an Agent, or of the runtime of a Service. */
function skillsOf({ skills, runtime }: Stored['spec']): unknown {
  return skills ?? (runtime as { skills?: unknown } | null | undefined)?.skills;
}

function targetOf(
  repository: ResourceAccess,
  { kind, id, organization }: Stored,
  { by }: Pick<ChildInput['request'], 'by'>,
): Target {
  return { definition: repository.definitionOf(kind), idOrName: id, organization, by };
}

function toCursor({ id }: Stored, version: string): string {
  return Buffer.from(`${id}@${version}`).toString('base64url');
}

function readCursor(stored: Stored, value: string | null): string | undefined {
  if (value === null || value === '') return undefined;
  const [, version = ''] = Buffer.from(value, 'base64url').toString('utf8').split('@');
  if (ID.test(version) && toCursor(stored, version) === value) return version;
  const message = 'page: not a cursor of this list';
  throw new GatewayError('invalid_request', { message, param: 'page' });
}

function noSuchPath(): GatewayError {
  return new GatewayError('not_found', { message: 'no such path' });
}
