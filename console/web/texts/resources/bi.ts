// English texts of console/web/pages/bi.
export const biText = {
  title: 'Data exports',
  about:
    'Findings, deadlines, scans and gates as tables for other reports: files here, increments by cursor through the ' +
    'API, and views for PostgreSQL.',
  datasets: 'Datasets',
  dataset: 'Dataset',
  rowIs: 'One row is',
  version: 'Version',
  view: 'View in PostgreSQL',
  download: 'First 10,000 rows',
  formats: { csv: 'CSV', jsonl: 'JSON Lines', parquet: 'Parquet' },
  downloadAs: (dataset: string, format: string) => `Download ${dataset} as ${format}`,
  column: 'Column',
  type: 'Type',
  meaning: 'Meaning',
  columns: 'Columns',
  none: 'There is no dataset',
} as const;
