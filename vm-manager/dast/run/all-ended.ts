/** Waits until each has ended, then throws what the first failed with: nothing goes on in the background. */
export async function allEnded(works: readonly Promise<void>[]): Promise<void> {
  const ends = await Promise.allSettled(works);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}
