/** The memory of this process, and the kernel's for its sockets: the answer of GET /admin/heap. */
import { readFileSync } from 'node:fs';
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';

/** A page of memory in bytes, as the kernel counts its TCP buffers. */
const PAGE_BYTES = 4096;

/** The kernel's memory: of the whole machine or of the container's network, because the kernel does not count it by process. */
interface KernelMemory {
  /** Bytes in the buffers of all TCP sockets. */
  tcpBufferBytes: number;
  /** Allocated TCP sockets. */
  tcpSockets: number;
  /** Bytes of kernel objects that can't be reclaimed: sockets, files, epoll entries. */
  slabBytes: number;
}

export interface MemoryReport {
  memory: NodeJS.MemoryUsage;
  heap: ReturnType<typeof getHeapStatistics>;
  spaces: ReturnType<typeof getHeapSpaceStatistics>;
  /** Bytes of the slab in use, and its size; outside of V8's heap. null in a worker, which has no mailboxes. */
  mailboxes: { usedBytes: number; bytes: number } | null;
  /** null where the system is not Linux. */
  kernel: KernelMemory | null;
}

export function memoryReport(mailboxes: MemoryReport['mailboxes']): MemoryReport {
  return {
    memory: process.memoryUsage(),
    heap: getHeapStatistics(),
    spaces: getHeapSpaceStatistics(),
    mailboxes,
    kernel: kernelMemory(),
  };
}

function kernelMemory(): KernelMemory | null {
  try {
    const sockets = readFileSync('/proc/net/sockstat', 'utf8');
    const memory = readFileSync('/proc/meminfo', 'utf8');
    return {
      tcpBufferBytes: numberAfter(sockets, /^TCP:.* mem (\d+)/m) * PAGE_BYTES,
      tcpSockets: numberAfter(sockets, /^TCP:.* alloc (\d+)/m),
      slabBytes: numberAfter(memory, /^SUnreclaim:\s+(\d+) kB/m) * 1024,
    };
  } catch {
    return null;
  }
}

function numberAfter(text: string, pattern: RegExp): number {
  return Number(pattern.exec(text)?.[1] ?? 0);
}
