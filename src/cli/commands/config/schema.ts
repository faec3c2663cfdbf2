import { configJsonSchema } from '../../../config/schema/json-schema.ts';
import type { CommandRun } from '../../command.ts';

export const run: CommandRun = async () => ({ data: configJsonSchema() });
