import { z } from 'zod';
import { GatewayError } from '../../core/errors.ts';
import { ownerRef } from './agent-fields.ts';
import { defineResource } from '../store/define-resource.ts';
import type { Stored } from '../store/stored.ts';
import type { ResourceDefinition } from '../store/define-resource.ts';
import { labels, name, owner } from '../fields/fields.ts';
import { checkSkillFiles, fileDigest, fromSkillForm, toBytes } from '../skills/skill-files.ts';
import type { SentFile, SkillFile } from '../skills/skill-files.ts';
import {
  getSkillVersion,
  listSkillVersions,
  newVersionOps,
  readSkillFiles,
  versionRemovals,
} from '../skills/skill-store.ts';
import { serveSkillVersions } from '../skills/skill-versions.ts';
import type { Draft, Lookup, Settlement } from '../store/settlement.ts';

/** Bound that lets all of a Skill be deleted in one commit. */
const MAX_VERSIONS = 200;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

type Files = Readonly<Record<string, SentFile>>;

/** Instructions and files that Agents can be given; every upload is a version that stays. */
export const skill: ResourceDefinition = defineResource('skills', {
  idPrefix: 'skill',
  description: 'Instructions and files that Agents can be given.',
  fields: () =>
    z.object({
      name: name.optional().describe('Default: the name that SKILL.md gives.'),
      organization: owner,
      display_name: z
        .string()
        .trim()
        .max(256)
        .nullish()
        .transform((value) => value || null)
        .describe('Shown to people; default: the name.'),
      files: z
        .record(
          z.string().min(1).max(512),
          z.union([z.string(), z.object({ base64: z.base64().describe('Bytes of the file.') })]),
        )
        .describe('Texts by path, SKILL.md among them; ${file:PATH} brings one in.'),
      labels,
    }),
  immutable: ['organization'],
  deletable: true,
  unique: [],
  filters: ['organization', 'source'],
  search: ['display_name', 'description'],
  comparable: { files: comparableFiles },
  api: {
    path: '/v1/skills',
    scope: 'skills',
    hidden: ['organization', 'version', 'files'],
    changes: false,
    children: { versions: serveSkillVersions },
    fromForm: fromSkillForm,
  },
  refs: (spec) => [ownerRef(spec)],
  settle: settleSkill,
  shown: () =>
    z.object({
      display_name: z.string().nullable(),
      description: z.string(),
      latest_version_id: z.string(),
      source: z.object({ type: z.literal('custom') }),
    }),
  view: ({ state }) => ({
    description: state['description'],
    latest_version_id: state['latest_version_id'],
    source: { type: 'custom' },
  }),
  dispose: async ({ id }, { store }) => {
    const versions = await listSkillVersions(store, id, { limit: MAX_VERSIONS });
    return versions.flatMap(versionRemovals);
  },
});

/** Files that are sent make a version; digests of those that there are make none. */
async function settleSkill(draft: Draft, lookup: Lookup): Promise<Settlement> {
  const { id, spec, before } = draft;
  const sent = spec['files'] as Files;
  const former = (before?.spec['files'] ?? {}) as Record<string, string>;
  if (before && isUnchanged(sent, former)) {
    return { spec: { ...spec, display_name: spec['display_name'] ?? spec.name } };
  }
  if (before) await refuseTooMany(id, lookup);
  const files = await readFiles(sent, before, lookup);
  const head = checkSkillFiles(files);
  const version = lookup.ids.next('skillver');
  const given = spec.name ?? head.name;
  return {
    spec: {
      ...spec,
      name: given,
      display_name: spec['display_name'] ?? given,
      files: Object.fromEntries(files.map(({ path, bytes }) => [path, fileDigest(bytes)])),
    },
    state: { latest_version_id: version, description: head.description },
    ops: newVersionOps({ id: version, skillId: id, head, files, now: lookup.now }),
  };
}

function isUnchanged(sent: Files, former: Readonly<Record<string, string>>): boolean {
  const paths = Object.keys(sent);
  return (
    paths.length === Object.keys(former).length &&
    paths.every((path) => sent[path] === former[path])
  );
}

async function refuseTooMany(id: string, { store }: Lookup): Promise<void> {
  const versions = await listSkillVersions(store, id, { limit: MAX_VERSIONS });
  if (versions.length < MAX_VERSIONS) return;
  const message = `a Skill has at most ${MAX_VERSIONS} versions; delete some`;
  throw new GatewayError('conflict', { message, type: 'too_many_versions', retry: false });
}

/** The digest of an existing file replaces the file. */
async function readFiles(
  sent: Files,
  before: Stored | undefined,
  { store }: Lookup,
): Promise<SkillFile[]> {
  const former = (before?.spec['files'] ?? {}) as Record<string, string>;
  const isKept = (path: string): boolean => sent[path] === former[path];
  const kept = new Map<string, Buffer>();
  if (before && Object.keys(sent).some(isKept)) {
    const latest = String(before.state['latest_version_id']);
    const version = await getSkillVersion(store, before.id, latest);
    const files = version ? ((await readSkillFiles(store, version)) ?? []) : [];
    for (const { path, bytes } of files) kept.set(path, bytes);
  }
  return Object.entries(sent).map(([path, file]) => {
    const bytes = isKept(path) ? kept.get(path) : toBytes(file);
    if (!bytes) throw new Error(`the file ${path} of ${before?.id} is gone`);
    return { path, bytes };
  });
}

/** Form of files that plan compares: contents by their digests. */
function comparableFiles(files: unknown): unknown {
  const entries = Object.entries(files as Files).map(([path, file]) => {
    const isDigest = typeof file === 'string' && DIGEST.test(file);
    return [path, isDigest ? file : fileDigest(toBytes(file))] as const;
  });
  return Object.fromEntries(entries);
}
