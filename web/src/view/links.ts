/** The address if a reader may follow it: http, https and mailto, spelled in full; else null. */
export function safeLink(address: string): string | null {
  if (!/^(https?:\/\/|mailto:)/i.test(address.trim())) return null;
  try {
    return new URL(address.trim()).href;
  } catch {
    return null;
  }
}
