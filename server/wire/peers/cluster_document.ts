/** The answer of GET /admin/relays, for the operator's page and his command. */

export interface ClusterDocument {
  /** The name of the relay that answers. */
  relay: string;
  /** Whether it is connected to NATS. */
  connected: boolean;
  relays: ClusterRow[];
}

/** `passed` and `received`: sprites to it and from it since the start. `verdictMs`: the time to all its verdicts. */
export interface ClusterRow {
  relay: string;
  state: 'here' | 'suspected' | 'gone' | 'left' | 'forgotten';
  desktops: number;
  silentMs: number;
  /** Whether it computes the same neighbours; null when that is not known. */
  agrees: boolean | null;
  passed: number;
  received: number;
  inDoubt: number;
  verdicts: number;
  verdictMs: number;
}
