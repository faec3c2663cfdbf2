import { posix } from 'node:path';
import { z } from 'zod';
import { nameOrganizations } from '../../config/actual/name-organizations.ts';
import { readActual } from '../../config/apply/apply.ts';
import type { ComparedSecret } from '../../config/actual/resource-client.ts';
import { CONFIG_KINDS, kindOf } from '../../config/objects/kinds.ts';
import type { KeyHasher } from '../../core/seal.ts';
import { compareSecret } from '../compose/compare-secrets.ts';
import type { Inventory } from '../../config/actual/inventory.ts';
import { checkDangling } from '../../config/plan/check-online.ts';
import { plan } from '../../config/plan/plan.ts';
import type { Plan, PlanOptions } from '../../config/plan/plan.ts';
import type { ConfigFiles } from '../../config/read/load.ts';
import { loadConfig } from '../../config/read/load-config.ts';
import type { Diagnostic } from '../../config/source/diagnostic.ts';
import { GatewayError } from '../../core/errors.ts';
import { parseFields, readObject } from '../../resources/fields/parse-body.ts';
import { toView } from '../../resources/store/define-resource.ts';
import type { Repository } from '../../resources/store/repository.ts';
import type { GateDeps } from '../../surfaces/gate.ts';
import { readBody } from '../../surfaces/read-body.ts';
import { createResourceClient } from '../compose/resource-client.ts';
import type { ResourceBodies } from '../http/resource-exchange.ts';
import { asAdmin } from './admin-handlers.ts';
import type { HandlersOf } from './lazy-routes.ts';
import type { CONFIGURATION_ROUTES } from './outlines.ts';

export interface ConfigurationDeps extends GateDeps, ResourceBodies {
  readonly repository: Repository;
  readonly hasher: KeyHasher;
}

/** Answers for declared values of secrets, in their order. */
export interface SecretComparisonView {
  readonly type: 'secret_comparison';
  readonly data: readonly ComparedSecret[];
}

/** Findings of `validate` for files, and the plan of `plan` against this gateway. */
export interface ConfigurationPlanView {
  readonly type: 'configuration_plan';
  readonly diagnostics: readonly Diagnostic[];
  /** Null where a diagnostic is an error. Made for no server, so that no apply takes it. */
  readonly plan: Plan | null;
}

/** Folder in place of that of the files; nothing is read from the disk. */
const FOLDER = '/files';
const MAX_FILES = 100;
const MAX_SECRETS = 500;

const fields = z.object({
  files: z
    .array(z.object({ name: z.string().min(1).max(256), text: z.string() }))
    .min(1)
    .max(MAX_FILES),
  prune: z.boolean().default(false),
  adopt: z.boolean().default(false),
});

const secrets = z.object({
  secrets: z
    .array(
      z
        .object({
          kind: z.enum(CONFIG_KINDS.map(({ kind }) => kind)),
          id: z.string().min(1).max(128).nullable(),
          field: z.string().min(1).max(128),
          value: z.string().min(1).max(65_536),
        })
        .refine(({ kind, field }) => kindOf(kind).secrets.includes(field), {
          path: ['field'],
          error: 'expected a write-only field of the kind',
        }),
    )
    .min(1)
    .max(MAX_SECRETS),
});

/** `POST /admin/v1/configuration/plan` and `…/secrets`: change nothing. */
export function configurationHandlers(
  deps: ConfigurationDeps,
): HandlersOf<typeof CONFIGURATION_ROUTES> {
  const { maxBodyBytes: limit, resourceValues: values } = deps;
  return {
    planFiles: asAdmin('govern', deps, async (exchange, { keyId: holder }) => {
      const bytes = await readBody(exchange, { limit, holder });
      const given = parseFields(fields, await readObject(bytes, { values }));
      return { status: 200, body: await planFiles(given as z.output<typeof fields>, deps) };
    }),
    // Of every organization, so for those who govern all of them.
    compareSecrets: asAdmin('govern', deps, async (exchange, { keyId: holder }) => {
      const bytes = await readBody(exchange, { limit, holder });
      const given = parseFields(secrets, await readObject(bytes, { values }));
      const data: ComparedSecret[] = [];
      for (const secret of (given as z.output<typeof secrets>).secrets)
        data.push(await compareSecret(secret, deps));
      const body: SecretComparisonView = { type: 'secret_comparison', data };
      return { status: 200, body };
    }),
  };
}

async function planFiles(
  { files, prune, adopt }: z.output<typeof fields>,
  { repository }: ConfigurationDeps,
): Promise<ConfigurationPlanView> {
  const texts = new Map(files.map(({ name, text }) => [pathOf(name), Buffer.from(text)]));
  const { config, diagnostics } = await loadConfig({
    paths: files.map(({ name }) => name),
    // Variables are those of the client that applies, which are unknown here.
    env: {},
    cwd: FOLDER,
    hasStore: true,
    files: inMemory(texts),
  });
  if (!config) return { type: 'configuration_plan', diagnostics, plan: null };
  const client = createResourceClient(repository);
  const actual = await readActual(client, config.desired);
  const options: PlanOptions = {
    desired: nameOrganizations(config.desired, actual),
    actual,
    inventories: await inventoriesOf(repository),
    mode: prune ? 'prune' : 'apply',
    target: null,
    adopt,
  };
  const all = [...diagnostics, ...checkDangling(options)];
  return { type: 'configuration_plan', diagnostics: all, plan: plan(options) };
}

function pathOf(name: string): string {
  const path = posix.resolve(FOLDER, name);
  if (path.startsWith(`${FOLDER}/`)) return path;
  const message = `files: ${name} leads out of the folder of the files`;
  throw new GatewayError('invalid_request', { message, param: 'files' });
}

function inMemory(texts: ReadonlyMap<string, Buffer>): ConfigFiles {
  return {
    async read(path) {
      const text = texts.get(path);
      if (text) return text;
      throw Object.assign(new Error('it is not among the files'), { code: 'ENOENT' });
    },
    list: async () => undefined,
    realpath: async (path) => path,
  };
}

async function inventoriesOf(repository: Repository): Promise<Inventory[]> {
  const definition = repository.definitionOf('inventory');
  const stored = await repository.list(definition, {
    organization: null,
    limit: Infinity,
    matches: () => true,
  });
  return stored.map((one) => {
    const { name, ...rest } = toView(definition, one);
    return { ...rest, namespace: String(name) } as unknown as Inventory;
  });
}
