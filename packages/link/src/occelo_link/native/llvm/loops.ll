; Made by llvm_from_c.py from sources with the digest f43f6f7755a465175797e96ba181883d
; with ziglang 0.17.1

define i64 @strips(ptr %0, ptr %1, i64 %2, ptr %3, ptr %4, i64 %5, i64 %6, ptr %7) nounwind {
  br label %9

9:
  %10 = phi i64 [ %5, %8 ], [ %12, %14 ]
  %11 = add i64 %10, %2
  %12 = tail call i64 @llvm.smin.i64(i64 %11, i64 %6)
  tail call void %0(ptr %4, i64 %10, i64 %12, ptr %7)
  %13 = icmp slt i64 %11, %6
  br i1 %13, label %14, label %17

14:
  %15 = tail call i64 %1(ptr %3)
  %16 = icmp eq i64 %15, 0
  br i1 %16, label %9, label %17

17:
  %18 = phi i64 [ 0, %9 ], [ %15, %14 ]
  ret i64 %18
}

define i64 @ticks(ptr %0, i32 %1) nounwind {
  %3 = alloca [2 x i64], align 16
  %4 = call i32 %0(i32 %1, ptr %3)
  %5 = load i64, ptr %3, align 16
  %6 = mul i64 %5, 1000000000
  %7 = getelementptr inbounds nuw i8, ptr %3, i64 8
  %8 = load i64, ptr %7, align 8
  %9 = add i64 %6, %8
  ret i64 %9
}

declare i64 @llvm.smin.i64(i64, i64)

