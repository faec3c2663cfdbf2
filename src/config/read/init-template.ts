import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packageFile } from '../../core/package-root.ts';
import { PROVIDERS } from '../../providers/registry.ts';
import { configJsonSchema } from '../schema/json-schema.ts';
import { withVendors } from './vendor-keys.ts';
import type { FoundKey } from './vendor-keys.ts';

export const TEMPLATES = [
  'local',
  'env',
  'agent-service',
  'acp-agent',
  'scheduled-report',
  'gitops',
  'plugin',
] as const;
export type TemplateName = (typeof TEMPLATES)[number];

/** Folder that every template has. */
const SHARED = 'shared';
const TEMPLATES_DIRECTORY = packageFile('templates');

/**
 * The files of `gateway init`, by path relative to the new directory: the template's, those that all
 * have, and the JSON Schema that its modeline names. `env` gets a provider with all of its models per vendor key found.
 */
export async function renderInit(options: {
  template: TemplateName;
  foundEnvKeys: readonly FoundKey[];
}): Promise<Record<string, string>> {
  const files = { ...(await readTemplate(SHARED)), ...(await readTemplate(options.template)) };
  files['gateway.yaml'] = withVendors(files['gateway.yaml'] ?? '', options.foundEnvKeys, PROVIDERS);
  files['.gateway/schema.json'] = `${JSON.stringify(configJsonSchema(), null, 2)}\n`;
  return files;
}

async function readTemplate(name: string): Promise<Record<string, string>> {
  const directory = join(TEMPLATES_DIRECTORY, name);
  const files: Record<string, string> = {};
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    // npm leaves files named .gitignore out of a package.
    const target = path.slice(directory.length + 1).replace(/(^|[/\\])_gitignore$/, '$1.gitignore');
    files[target] = await readFile(path, 'utf8');
  }
  return files;
}
