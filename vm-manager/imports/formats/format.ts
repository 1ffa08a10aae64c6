// What a format of reports is: how it is known, and how its records are read.
import type { Item, Items, ReportFacts } from '../record.js';
import type { ReportFile } from '../reading/report-file.js';

export interface Format {
  readonly name: string;
  readonly label: string;
  /** How a file of it is known, for people. */
  readonly detection: string;
  /** From the beginning of the file. */
  readonly detect: (beginning: string) => boolean;
  /** Which tool it is comes from its results: a report without any may be of each of them. */
  readonly isOfAnyTool?: true;
  /** Reads records one after the other, and fills `facts` on the way. Throws ApiError for what is no such report. */
  readonly read: (file: ReportFile, facts: ReportFacts) => AsyncGenerator<Item | Items>;
}
