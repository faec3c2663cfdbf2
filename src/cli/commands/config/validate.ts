import { checkClientKeys } from '../../../config/read/check-client-keys.ts';
import { unpricedWarning } from '../../../config/read/check-prices.ts';
import { formatDiagnostics, hasErrors } from '../../../config/source/diagnostic.ts';
import { shippedPrices } from '../../../usage/prices/live-prices.ts';
import { invalidConfig, loadProject } from '../../project/project.ts';
import type { RunOf } from '../../commands.ts';

/** Diagnostics are the result here, so they go to stdout. */
export const run: RunOf<'validate'> = async (input) => {
  const now = input.context.clock.now();
  const loaded = await loadProject(input, {
    prices: { now, load: shippedPrices },
    hasStore: input.flags.online,
  });
  const { config } = loaded;
  const diagnostics = [...loaded.diagnostics];
  if (config) {
    const { unpriced, server, desired, sources } = config;
    const judging = { sources, now: new Date(now).toISOString() };
    diagnostics.push(...(await checkClientKeys(desired, judging)));
    diagnostics.push(...unpriced.map((one) => unpricedWarning(one, server.limits.unpriced)));
  }
  if (input.flags.online && config !== undefined) {
    const { validateOnline } = await import('../../project/validate-online.ts');
    diagnostics.push(...(await validateOnline(input, config)));
  }
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
