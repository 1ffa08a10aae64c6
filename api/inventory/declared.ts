// What specifications declare. Until the feature that stores them exports it, no site has one.
import type { DeclaredOperations } from './fold.js';

/** Operations of the specifications in force for a site; empty: it has none. */
export const declaredOperations: DeclaredOperations = async () => [];
