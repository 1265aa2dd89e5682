; Made by llvm_from_c.py from sources with the digest 7dffeffeefb76eb83c467c3fc30bf76b
; with ziglang 0.17.1

define i64 @strips(ptr %0, ptr %1, i64 %2, ptr %3, ptr %4, i64 %5, i64 %6, ptr %7) nounwind {
  br label %9

9:
  %10 = phi i64 [ %5, %8 ], [ %12, %17 ]
  %11 = add i64 %10, %2
  %12 = tail call i64 @llvm.smin.i64(i64 %11, i64 %6)
  %13 = tail call i64 %0(ptr %4, i64 %10, i64 %12, ptr %7)
  %14 = icmp eq i64 %13, 0
  %15 = icmp slt i64 %11, %6
  %16 = and i1 %14, %15
  br i1 %16, label %17, label %20

17:
  %18 = tail call i64 %1(ptr %3)
  %19 = icmp eq i64 %18, 0
  br i1 %19, label %9, label %20

20:
  %21 = phi i64 [ %13, %9 ], [ -2, %17 ]
  ret i64 %21
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

