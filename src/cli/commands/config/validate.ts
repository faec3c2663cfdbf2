import { readActual } from '../../../config/apply/apply.ts';
import { checkOnline } from '../../../config/plan/check-online.ts';
import {
  type Diagnostic,
  formatDiagnostics,
  hasErrors,
} from '../../../config/source/diagnostic.ts';
import type { GatewayConfig } from '../../../config/read/load-config.ts';
import { plan } from '../../../config/plan/plan.ts';
import { toResourceClient } from '../../resources/admin-resources.ts';
import type { CommandInput, CommandRun } from '../../command.ts';
import { invalidConfig, loadProject, projectFile } from '../../project/project.ts';

/** Here the diagnostics are the result, so they go to stdout. */
export const run: CommandRun = async (input) => {
  const loaded = await loadProject(input);
  const { config } = loaded;
  const isOnline = input.flags.on('online') && config !== undefined;
  const diagnostics = [...loaded.diagnostics, ...(isOnline ? await askServer(input, config) : [])];
  const github = input.context.format === 'github';
  const text = formatDiagnostics(diagnostics, github ? 'github' : 'text');
  if (config !== undefined && !hasErrors(diagnostics)) {
    const files = config.files.join(', ');
    const verdict = github ? '' : `${files}: valid`;
    return {
      data: { files: config.files, diagnostics },
      text: [text, verdict].filter(Boolean).join('\n'),
    };
  }
  const invalid = invalidConfig(diagnostics);
  return {
    ...invalid,
    text,
    failure: invalid.failure && { ...invalid.failure, details: undefined },
  };
};

async function askServer(input: CommandInput, { desired }: GatewayConfig): Promise<Diagnostic[]> {
  const client = await input.context.connect({ near: projectFile(input) });
  // What an Agent or a model names may be of a kind that the files say nothing of.
  const managed = new Set([...desired.managed, 'agent', 'model', 'provider'] as const);
  const actual = await readActual(toResourceClient(client), { ...desired, managed });
  return checkOnline({ desired, actual, plan: plan({ desired, actual, mode: 'apply' }) });
}
