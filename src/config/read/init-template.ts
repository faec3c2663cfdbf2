import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packageFile } from '../../core/package-root.ts';
import type { ProviderDefinition } from '../../providers/define-provider.ts';
import { configJsonSchema } from '../schema/json-schema.ts';

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

/** A vendor whose key is in the environment; the name of the variable, never its value. */
export interface FoundKey {
  readonly provider: string;
  readonly variable: string;
}

/** One model per vendor to begin with; names as the vendors publish them. */
const FIRST_MODELS: Readonly<Record<string, string>> = {
  anthropic: 'claude-sonnet-4-5',
  deepseek: 'deepseek-chat',
  google: 'gemini-2.5-flash',
  groq: 'llama-3.3-70b-versatile',
  mistral: 'mistral-small-latest',
  openai: 'gpt-5-mini',
  openrouter: 'openrouter/auto',
  together: 'meta-llama/Llama-3.3-70B-Instruct-Turbo',
  xai: 'grok-4',
};

/** Folder that every template has. */
const SHARED = 'shared';
const TEMPLATES_DIRECTORY = packageFile('templates');

/** The vendors for which one of their usual variables is set. */
export function findVendorKeys(
  env: Readonly<Record<string, string | undefined>>,
  definitions: readonly ProviderDefinition[],
): FoundKey[] {
  return definitions.flatMap(({ id, baseUrl, envKeys }) => {
    const variable = envKeys?.find((name) => (env[name] ?? '') !== '');
    const isUsable = baseUrl !== undefined && FIRST_MODELS[id] !== undefined;
    return variable !== undefined && isUsable ? [{ provider: id, variable }] : [];
  });
}

/**
 * The files of `gateway init`, by path relative to the new directory: the template's, those that all
 * have, and the JSON Schema that its modeline names. `env` gets a provider and a model per vendor key found.
 */
export async function renderInit(options: {
  template: TemplateName;
  foundEnvKeys: readonly FoundKey[];
}): Promise<Record<string, string>> {
  const files = { ...(await readTemplate(SHARED)), ...(await readTemplate(options.template)) };
  files['gateway.yaml'] = withVendors(files['gateway.yaml'] ?? '', options.foundEnvKeys);
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

function withVendors(text: string, found: readonly FoundKey[]): string {
  const providers = found.map(
    ({ provider, variable }) =>
      `  - name: ${provider}\n    type: ${provider}\n    api_key: \${secret:env:${variable}}\n`,
  );
  const models = found.map(({ provider }) => {
    const model = FIRST_MODELS[provider] ?? '';
    return `\n  - name: ${provider}/${model}\n    routes:\n      - provider: ${provider}\n`;
  });
  return text
    .replace(/ {2}# <providers>\n/, () => providers.join(''))
    .replace(/ {2}# <models>\n/, () => models.join(''));
}
