import { addHealth } from '../../details/provider-health.ts';
import { listCommand } from '../../resources/list-resources.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'providers list'> = listCommand('providers', addHealth);
