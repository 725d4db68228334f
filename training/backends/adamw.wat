;; AdamW on one tensor, in place, four float32 at a time.
;; The memory is the one that holds parameters, moments and gradients; ONNX Runtime reads and writes it too.
;;   m <- beta1 m + (1 - beta1) g
;;   v <- beta2 v + (1 - beta2) g^2
;;   p <- keep p - rate m / (sqrt(v) correction + epsilon)
;; rate = lr / (1 - beta1^t), correction = 1 / sqrt(1 - beta2^t), keep = 1 - lr decay: the caller computes them in f64.
;; Addresses are bytes, multiples of 16; count is a number of floats, a multiple of 4.
(module
  (import "env" "memory" (memory 1 65536))
  (func (export "adamw")
    (param $p i32) (param $m i32) (param $v i32) (param $g i32) (param $count i32)
    (param $beta1 f32) (param $beta2 f32) (param $rate f32) (param $correction f32) (param $keep f32) (param $epsilon f32)
    (local $end i32)
    (local $grad v128) (local $first v128) (local $second v128)
    (local $b1 v128) (local $b2 v128) (local $c1 v128) (local $c2 v128)
    (local $rates v128) (local $corrections v128) (local $keeps v128) (local $epsilons v128)
    (local.set $b1 (f32x4.splat (local.get $beta1)))
    (local.set $b2 (f32x4.splat (local.get $beta2)))
    (local.set $c1 (f32x4.splat (f32.sub (f32.const 1) (local.get $beta1))))
    (local.set $c2 (f32x4.splat (f32.sub (f32.const 1) (local.get $beta2))))
    (local.set $rates (f32x4.splat (local.get $rate)))
    (local.set $corrections (f32x4.splat (local.get $correction)))
    (local.set $keeps (f32x4.splat (local.get $keep)))
    (local.set $epsilons (f32x4.splat (local.get $epsilon)))
    (local.set $end (i32.add (local.get $p) (i32.shl (local.get $count) (i32.const 2))))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $p) (local.get $end)))
        (local.set $grad (v128.load align=16 (local.get $g)))
        (local.set $first
          (f32x4.add
            (f32x4.mul (local.get $b1) (v128.load align=16 (local.get $m)))
            (f32x4.mul (local.get $c1) (local.get $grad))))
        (local.set $second
          (f32x4.add
            (f32x4.mul (local.get $b2) (v128.load align=16 (local.get $v)))
            (f32x4.mul (local.get $c2) (f32x4.mul (local.get $grad) (local.get $grad)))))
        (v128.store align=16 (local.get $m) (local.get $first))
        (v128.store align=16 (local.get $v) (local.get $second))
        (v128.store align=16
          (local.get $p)
          (f32x4.sub
            (f32x4.mul (local.get $keeps) (v128.load align=16 (local.get $p)))
            (f32x4.div
              (f32x4.mul (local.get $rates) (local.get $first))
              (f32x4.add
                (f32x4.mul (f32x4.sqrt (local.get $second)) (local.get $corrections))
                (local.get $epsilons)))))
        (local.set $p (i32.add (local.get $p) (i32.const 16)))
        (local.set $m (i32.add (local.get $m) (i32.const 16)))
        (local.set $v (i32.add (local.get $v) (i32.const 16)))
        (local.set $g (i32.add (local.get $g) (i32.const 16)))
        (br $next)))))
