import { report } from './commands/report.js';

/** The commands that this package adds to `gateway`. */
export const commands = [report];
