import { Buffer } from 'node:buffer';
import type { Op, Store } from '../../store/store.ts';
import { contentOps, contentRemovals, readContent } from '../files/content-rows.ts';
import { fileDigest } from './skill-files.ts';
import type { SkillFile, SkillHead } from './skill-files.ts';
import { skillVersionKey, skillVersionPrefix } from '../store/storage-keys.ts';

/** A version of a Skill as the store holds it; its files follow one another in one content. */
export interface SkillVersion extends SkillHead {
  /** `skillver_…` */
  id: string;
  skillId: string;
  createdAt: string;
  files: readonly { path: string; size: number; digest: string }[];
}

export interface NewVersion {
  id: string;
  skillId: string;
  head: SkillHead;
  files: readonly SkillFile[];
  /** RFC 3339. */
  now: string;
}

export function newVersionOps({ id, skillId, head, files, now }: NewVersion): Op[] {
  const version: SkillVersion = {
    id,
    skillId,
    ...head,
    createdAt: now,
    files: files.map(({ path, bytes }) => ({
      path,
      size: bytes.length,
      digest: fileDigest(bytes),
    })),
  };
  return [
    { type: 'put', key: skillVersionKey(skillId, id), value: version, ifAbsent: true },
    ...contentOps(id, Buffer.concat(files.map(({ bytes }) => bytes))),
  ];
}

/** The version that these operations make of a Skill. */
export function newVersionOf(ops: readonly Op[], skillId: string): SkillVersion | undefined {
  const prefix = skillVersionPrefix(skillId);
  const isVersion = ({ key }: Op): boolean => prefix.every((part, index) => key[index] === part);
  const put = ops.find((op) => op.type === 'put' && isVersion(op));
  return put?.type === 'put' ? (put.value as SkillVersion) : undefined;
}

export function versionRemovals({ id, skillId, files }: SkillVersion): Op[] {
  return [
    { type: 'delete', key: skillVersionKey(skillId, id) },
    ...contentRemovals(id, sizeOf(files)),
  ];
}

/** The files as the Skill shows them. */
export function digestsOf({ files }: SkillVersion): Record<string, string> {
  return Object.fromEntries(files.map(({ path, digest }) => [path, digest]));
}

export async function getSkillVersion(
  store: Pick<Store, 'get'>,
  skillId: string,
  id: string,
): Promise<SkillVersion | undefined> {
  return (await store.get<SkillVersion>(skillVersionKey(skillId, id)))?.value;
}

/** Newest first, older than the given one. */
export async function listSkillVersions(
  store: Pick<Store, 'list'>,
  skillId: string,
  { before, limit }: { before?: string | undefined; limit: number },
): Promise<SkillVersion[]> {
  const page = await store.list<SkillVersion>({
    prefix: skillVersionPrefix(skillId),
    reverse: true,
    limit,
    ...(before !== undefined && { after: skillVersionKey(skillId, before) }),
  });
  return page.map(({ value }) => value);
}

/** Undefined when the version was deleted meanwhile. */
export async function readSkillFiles(
  store: Pick<Store, 'get'>,
  { id, files }: SkillVersion,
): Promise<SkillFile[] | undefined> {
  const content = await readContent(store, id, sizeOf(files));
  if (!content) return undefined;
  let at = 0;
  return files.map(({ path, size }) => ({ path, bytes: content.subarray(at, (at += size)) }));
}

function sizeOf(files: SkillVersion['files']): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}
