/** The gauges of the sprite store, for Prometheus. OPERATING.md explains each of them and what to do when it moves. */
import { Gauge, type Registry } from 'prom-client';
import type { SpriteStore } from '../store/sprite_store.ts';

/** Registers them. All workers count the same directory, so the master takes the highest count; it sums the rest. */
export function storeGauges(registry: Registry, store: SpriteStore): void {
  const gauge = (name: string, help: string, aggregator: 'max' | 'sum', value: () => number) => {
    const made: Gauge = new Gauge({
      name,
      help,
      aggregator,
      registers: [registry],
      collect: () => made.set(value()),
    });
  };
  gauge('sprites_store_files', 'Stored sprite files', 'max', () => store.count);
  gauge('sprites_store_bytes', 'Bytes of the stored sprite files', 'max', () => store.bytes);
  gauge('sprites_store_evicted', 'Sprite files evicted since start', 'sum', () => store.evicted);
  gauge('sprites_store_upload_bytes', 'Bytes of unfinished uploads', 'sum', () => store.uploads.used);
  gauge('sprites_store_sending_bytes', 'Bytes of different files that are being sent', 'sum', () => store.sendingBytes);
}
