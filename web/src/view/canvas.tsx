import { useLayoutEffect, useRef } from "preact/hooks";
import type { Picture } from "./image";
import { type Pixels, painted } from "./pixels";

const COMFORTABLE = 440;
const MOST_TIMES = 16;

/** An array of numbers, drawn. */
export function Canvas({ pixels, label }: { pixels: Pixels; label: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { width, height } = pixels;
  useLayoutEffect(() => {
    canvas.current?.getContext("2d")?.putImageData(new ImageData(painted(pixels), width, height), 0, 0);
  }, [pixels, width, height]);
  const said = `${label}, ${width} × ${height} pixels`;
  return (
    <canvas
      ref={canvas}
      class="view-picture"
      width={width}
      height={height}
      style={looks(width, height)}
      role="img"
      aria-label={said}
    />
  );
}

/** An image file, shown. */
export function PictureView({ picture, label }: { picture: Picture; label: string }) {
  const { src, width, height } = picture;
  const style = width && height ? looks(width, height) : {};
  return (
    <img
      class="view-picture"
      src={src}
      width={width}
      height={height}
      style={style}
      alt={label}
      decoding="sync"
    />
  );
}

/** Small pictures are made larger by a whole number, in squares; each keeps its place while it is loaded. */
function looks(width: number, height: number): Record<string, string> {
  const times = Math.min(MOST_TIMES, Math.max(1, Math.floor(COMFORTABLE / Math.max(width, height))));
  return {
    width: `${width * times}px`,
    aspectRatio: `${width} / ${height}`,
    imageRendering: times > 1 ? "pixelated" : "auto",
  };
}
