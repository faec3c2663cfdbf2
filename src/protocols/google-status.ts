const NAMES: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  402: 'PERMISSION_DENIED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  501: 'UNIMPLEMENTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

/** `error.status` of generate-content and Interactions (requirement errors.google.status-names). */
export function googleStatus(status: number): string {
  return NAMES[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL');
}
