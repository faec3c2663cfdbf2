/** As the scripts read it: nothing for what stays, and never an exponent. */
export function expiryText(expiresAt: number): string {
  if (expiresAt === Infinity) return '';
  return expiresAt < 1e21 ? String(expiresAt) : BigInt(expiresAt).toString();
}
