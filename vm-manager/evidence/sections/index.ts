// Every section of a pack, in the order in which they are collected.
import type { Section } from './section.js';
import { applicationSections } from './of-applications.js';
import { organisationSections } from './of-organisation.js';

const table = { ...organisationSections, ...applicationSections };
export type SectionName = keyof typeof table;
export const sections: Readonly<Record<SectionName, Section>> = table;
export const sectionNames = Object.keys(table) as SectionName[];
/** A pack about one application has these where none is named. */
export const namesOfApplications = Object.keys(applicationSections) as SectionName[];
