/** Pointer and keyboard: turns what a person does into calls of the simulation. Its only state is which sprite is selected. */
import {
  drag,
  type Edge,
  grab,
  type Point,
  point,
  release,
  type Simulation,
  type Sprite,
  spriteAt,
  steer,
  throwTo,
} from '../motion/simulation.ts';

export interface Input {
  readonly selected: Sprite | null;
}

export interface InputHandlers {
  selected(sprite: Sprite | null): void;
  /** The person wants to put this sprite back on the shelf. */
  putBack(sprite: Sprite): void;
  togglePause(): void;
  /** The person wants to say something. */
  say(): void;
  /** The person wants to look over the next edge, or has gone through all and wants to look over none. */
  peek(): void;
  stopPeeking(): void;
}

const FINGER_SLACK = 14; // px by which a finger or a pen may miss a sprite
const MOUSE_SLACK = 3; // px by which a mouse may miss a sprite

const ARROWS: Record<string, Edge> = { ArrowLeft: 'left', ArrowRight: 'right', ArrowUp: 'top', ArrowDown: 'bottom' };

/**
 * `slide` returns by how many px the sprites are drawn to the right of and below their places. The keys are those that are pressed
 * in `keysIn`.
 */
export function listenToInput(
  canvas: HTMLCanvasElement,
  simulation: Simulation,
  slide: () => Point,
  handlers: InputHandlers,
  keysIn: Document | HTMLElement = document,
): Input {
  canvas.setAttribute('role', 'application'); // makes screen readers pass the keys on to the page
  let selected: Sprite | null = null;
  const select = (sprite: Sprite | null) => {
    if (selected === sprite) return;
    selected = sprite;
    handlers.selected(sprite);
  };
  const onDesktop = ({ clientX, clientY }: PointerEvent) => {
    const { x, y } = slide();
    return { x: clientX - x, y: clientY - y };
  };
  const slack = (event: PointerEvent) => (event.pointerType === 'mouse' ? MOUSE_SLACK : FINGER_SLACK);

  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || simulation.held !== null) return;
    canvas.focus({ preventScroll: true });
    const { x, y } = onDesktop(event);
    const sprite = spriteAt(simulation, x, y, slack(event));
    select(sprite);
    if (sprite === null) return;
    canvas.setPointerCapture(event.pointerId);
    canvas.classList.add('holding');
    grab(simulation, sprite, x, y, event.timeStamp);
  });
  canvas.addEventListener('pointermove', (event) => {
    if (canvas.hasPointerCapture(event.pointerId)) {
      // Between two frames a pointer reports several points. All of them count for the speed of the throw.
      const points = event.getCoalescedEvents?.() ?? [];
      for (const point of points.length > 0 ? points : [event]) {
        const { x, y } = onDesktop(point);
        drag(simulation, x, y, point.timeStamp);
      }
    } else {
      const { x, y } = onDesktop(event);
      point(simulation, x, y);
      canvas.classList.toggle('over', spriteAt(simulation, x, y, slack(event)) !== null);
    }
  });
  const letGo = (event: PointerEvent) => {
    if (!canvas.hasPointerCapture(event.pointerId)) return;
    canvas.releasePointerCapture(event.pointerId);
    canvas.classList.remove('holding');
    release(simulation, event.timeStamp);
  };
  canvas.addEventListener('pointerup', letGo);
  canvas.addEventListener('pointercancel', letGo);

  keysIn.addEventListener('keydown', (event) => {
    if (!(event instanceof KeyboardEvent)) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if ((event.target as Element).closest('dialog, input, button, a')) return;
    if (selected !== null && !simulation.sprites.includes(selected)) select(null);
    if (handleKey(event)) event.preventDefault();
  });
  keysIn.addEventListener('keyup', (event) => {
    if (!(event instanceof KeyboardEvent)) return;
    if (selected === null || simulation.steered === null) return;
    if (event.key === 'ArrowLeft') steer(simulation, selected, 'left', false);
    if (event.key === 'ArrowRight') steer(simulation, selected, 'right', false);
    if (event.key === 'ArrowUp' || event.key === ' ') steer(simulation, selected, 'jump', false);
  });

  // The page gets no keyup for a key that is released while another window has the focus.
  addEventListener('blur', () => {
    simulation.steered = null;
  });

  return {
    get selected() {
      return selected;
    },
  };

  /** Returns whether the page has a use for the key. */
  function handleKey({ key, shiftKey, repeat }: KeyboardEvent): boolean {
    if (key === 'n' || key === 'N') {
      select(simulation.sprites[(simulation.sprites.indexOf(selected!) + 1) % simulation.sprites.length] ?? null);
      return true;
    }
    if (key === 'p' || key === 'P') {
      if (!repeat) handlers.togglePause();
      return true;
    }
    if (key === 'Enter') {
      if (!repeat) handlers.say();
      return true;
    }
    if (key === 'v' || key === 'V') {
      if (!repeat) handlers.peek();
      return true;
    }
    if (key === 'Escape') {
      handlers.stopPeeking();
      select(null);
    }
    if (selected === null || selected.mode === 'drag') return false;
    const edge = ARROWS[key];
    if (edge !== undefined && shiftKey) {
      if (!repeat) throwTo(simulation, selected, edge);
    } else if (edge === 'left' || edge === 'right') {
      steer(simulation, selected, edge, true);
    } else if (edge === 'top' || key === ' ') {
      steer(simulation, selected, 'jump', true);
    } else if (edge === 'bottom') {
      if (!repeat) steer(simulation, selected, 'drop', true);
    } else if (key === 'Delete' || key === 'Backspace') {
      handlers.putBack(selected);
    } else {
      return false;
    }
    return true;
  }
}
