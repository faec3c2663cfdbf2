/** Kinds whose objects the Configuration page lists, by the last segment of their path, with their titles. */
export const CONFIGURATION_KINDS = [
  ['providers', 'Providers'],
  ['models', 'Models'],
  ['aliases', 'Aliases'],
  ['apis', 'APIs'],
  ['organizations', 'Organizations'],
  ['keys', 'Keys'],
  ['budgets', 'Budgets'],
  ['agents', 'Agents'],
  ['services', 'Services'],
  ['deployments', 'Schedules'],
  ['credentials', 'Credentials'],
  ['skills', 'Skills'],
] as const;
