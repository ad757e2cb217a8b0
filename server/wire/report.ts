/** A reported picture, as the operator sees it in GET /admin/reports. */
export interface Report {
  file: string;
  count: number;
  firstMs: number;
  lastMs: number;
  /** The newest ones, oldest first. */
  reasons: string[];
  /** The desktops that have thrown it, as far as they were reported: the newest ones, oldest first. Absent: none was. */
  desktops?: string[];
}
